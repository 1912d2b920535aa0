/** Clients in other languages: a script that drives the server and prints what it saw. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Debian's libraries belong to the system's own interpreters, even if others come first in the path. */
const LANGUAGES = {
  python: { program: '/usr/bin/python3', asks: ['-c', 'import gitlab'], debian: 'python3-gitlab' },
  ruby: { program: '/usr/bin/ruby', asks: ['-e', "require 'gitlab'"], debian: 'ruby-gitlab' },
}

/** Returns the output of the script; its failures are in the error. */
export async function runScript(language: keyof typeof LANGUAGES, name: string, args: string[]): Promise<string> {
  const { program, asks, debian } = LANGUAGES[language]
  const installed = existsSync(program) && (await exec(program, asks).catch(() => null))
  if (!installed) throw new Error(`install Debian's ${debian} to run this test`)
  // Otherwise Python leaves compiled files next to the source.
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await exec(program, [fileURLToPath(new URL(name, import.meta.url)), ...args], { env })
  return stdout
}
