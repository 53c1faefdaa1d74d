/** Parts of packages that have no types. */
declare module "jiti/dist/jiti.cjs" {
  interface Loader {
    import(path: string): Promise<unknown>;
  }
  export default function createJiti(parent: string, options: object, runtime: object): Loader;
}
