import { expect, test } from 'vitest';
import { isTestFile } from '../../src/semantic/test-code.js';

const TESTS = [
  'import pytest\n',
  'class TestLoading:\n    def test_cpu(self):\n        load()\n',
  'class LoadingTest(absltest.TestCase):\n    pass\n',
  'class TestLarge(CommonTests):\n    size = 3\n',
  'class LoadingTestMixin:\n    def check(self):\n        self.assertEqual(load(), 1)\n',
  'def test_load():\n    load()\n',
];
const OTHERS = [
  'class TestDataset(Dataset):\n    def __len__(self):\n        return 3\n',
  'class StyleTestSetting:\n    def set_up(self, path):\n        assert isinstance(path, str)\n        load(path)\n',
  'def test_epoch(model, loader):\n    model(loader)\n',
];

test.each(TESTS)('a file of tests has a test: %j', (text) => {
  expect(isTestFile('tests/test_loading.py', text)).toBe(true);
});

test.each(OTHERS)('a file beside tests that checks nothing is not one: %j', (text) => {
  expect(isTestFile('test/style/setting.py', text)).toBe(false);
});
