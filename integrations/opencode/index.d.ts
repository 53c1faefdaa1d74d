/** The plugin, as OpenCode loads it. Its options are described in README.md. */
export declare const PTYPlugin: (
  input: unknown,
  options?: Record<string, unknown>,
) => Promise<Record<string, unknown>>
export declare const server: typeof PTYPlugin
