/** A plugin broke: in `detect`, in `fix`, or by what one of them gave. The run goes on without it. */
export class PluginFault extends Error {
  override readonly name = 'PluginFault';

  constructor(
    /** As the user named it. */
    readonly plugin: string,
    readonly transform: string,
    override readonly cause: unknown,
  ) {
    super(
      `${plugin}, \`${transform}\`: ${cause instanceof Error ? `${cause.name}: ${cause.message}${placeIn(cause, plugin)}` : String(cause)}`,
    );
  }
}

/** The line of the plugin that broke, where the stack has it. */
function placeIn({ stack = '' }: Error, plugin: string): string {
  const name = plugin.replace(/^.*[/\\]/, '');
  const line = stack.split('\n').find((each) => each.includes(`/${name}:`) || each.includes(`/${name}?`));
  const [, at] = /:(\d+):\d+\)?$/.exec(line ?? '') ?? [];
  return at === undefined ? '' : ` (line ${at})`;
}
