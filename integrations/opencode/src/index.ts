// What OpenCode loads: every export must be the plugin itself.

export { plugin as PTYPlugin, plugin as server } from "./plugin.js"
