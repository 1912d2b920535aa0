/** Plain git, as a user on their own machine has it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Person, TestForge } from '../src/forge.ts'
import { runProgram } from './programs.ts'

/** A working folder with git; a failure is returned, not thrown. */
export async function workspace() {
  const folder = await mkdtemp(join(tmpdir(), 'mortise-work-'))
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((role) => [
        [`GIT_${role}_NAME`, 'Ada'],
        [`GIT_${role}_EMAIL`, 'ada@example.com'],
      ]),
    ),
  }
  const git = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram(['git', ...args], { cwd: folder, env })
    return { code, stdout: code === 0 ? stdout.trim() : stdout, stderr }
  }
  return { folder, git, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

/** The URL of a project's repository, with the credentials of the person. */
export const addressFor = (forge: TestForge, path: string, person?: Person) =>
  person
    ? forge.url.replace('://', `://${person.username}:${person.token}@`) + `/${path}.git`
    : `${forge.url}/${path}.git`
