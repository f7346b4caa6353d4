type Env = Readonly<Record<string, string | undefined>>;

/** What programs need to find themselves, their libraries and the GPU. */
const NEEDED = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...['NO_COLOR', 'VIRTUAL_ENV', 'LD_LIBRARY_PATH', 'LIBRARY_PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'SOURCE_DATE_EPOCH'],
  ...['HF_HUB_CACHE', 'HF_DATASETS_CACHE', 'HF_HUB_OFFLINE', 'HF_DATASETS_OFFLINE'],
  ...['SystemRoot', 'SYSTEMROOT', 'WINDIR', 'ComSpec', 'COMSPEC', 'PATHEXT', 'USERPROFILE'],
]);
const NEEDED_KINDS =
  /^(?:PYTHON\w*|(?:LC|CONDA|MAMBA|PYENV|PYTORCH|TORCH|TRANSFORMERS|CUDA|CUDNN|CUBLAS|NCCL|NVIDIA|HIP|ROCR|ROCM|HSA|OMP|MKL|OPENBLAS|KMP|DYLD)_\w+)$/;
/** Of those kinds, too, some hold what nobody else is to know. */
const SECRET = /TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|PRIVATE|API_?KEY|ACCESS_?KEY/;

/** The environment of a command that runs the code of repositories: what it needs, and what the campaign names. */
export function verifyEnvironment(env: Env, named: readonly string[]): Env {
  const isKept = (name: string) =>
    named.includes(name) || NEEDED.has(name) || (NEEDED_KINDS.test(name) && !SECRET.test(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name)));
}
