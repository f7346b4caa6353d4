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
      `${plugin}, \`${transform}\`: ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`,
    );
  }
}
