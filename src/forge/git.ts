/** Runs git as a user on their own machine would, with their credentials for one forge. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { devNull } from 'node:os'
import { promisify } from 'node:util'
import type { Person } from './types.ts'

const run = promisify(execFile)
const LONGEST_OUTPUT = 64 * 1024 * 1024

export async function runGit(args: readonly string[], person: Person, cwd: string): Promise<string> {
  await mkdir(cwd, { recursive: true })
  const { stdout } = await run('git', args, {
    cwd,
    env: environmentOf(person, cwd),
    maxBuffer: LONGEST_OUTPUT,
  }).catch((error: Error & { stderr?: string }) => {
    throw new Error(`git ${args.join(' ')}: ${error.stderr?.trim() || error.message}`, { cause: error })
  })
  return stdout.trimEnd()
}

/** Without the settings of the machine: a test must not depend on them. */
function environmentOf({ url, username, email, token }: Person, home: string): NodeJS.ProcessEnv {
  const basic = Buffer.from(`${username}:${token}`).toString('base64')
  const settings = [
    [`http.${url}/.extraHeader`, `Authorization: Basic ${basic}`],
    ['init.defaultBranch', 'master'],
  ] as const
  return {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: username,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: username,
    GIT_COMMITTER_EMAIL: email,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
  }
}
