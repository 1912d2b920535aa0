import { readFileSync } from 'node:fs'

/** The version of this program; `package.json` stands one folder up, from `src` as from `dist`. */
export const VERSION = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** What the package brings to read, beside `package.json`. */
export const DOCUMENTATION = new URL('../docs/', import.meta.url)
