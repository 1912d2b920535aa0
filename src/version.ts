import { readFileSync } from 'node:fs'

/** The version of this program; `package.json` stands one folder up, from `src` as from `dist`. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version
