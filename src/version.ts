import { readFileSync } from 'node:fs'

/** The version of this program; `package.json` is one folder up, from `src` and from `dist`. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** The documentation in the package, next to `package.json`. */
export const DOCUMENTATION = new URL('../docs/', import.meta.url)
