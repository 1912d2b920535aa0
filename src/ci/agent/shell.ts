/** Runs scripts on this machine, as the user of the agent. */
import { existsSync } from 'node:fs'
import { chmod, readdir, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { hasCode } from '../../lib/files/system-errors.ts'
import type { Executor, ExecutorJob } from './executor.ts'
import { endMarked, runProgram } from './processes.ts'

export const shellExecutor: Executor = {
  name: 'shell',
  exitWord: 'exit status',
  isIsolated: false,
  open: (given) => {
    const shell = findShell(given.environment.PATH ?? '')
    return Promise.resolve({
      prepare: () => given.say(`Using Shell (${shell.name}) executor...`),
      run: ({ script, stage, signal }) => runScript(given, shell.path, { script, stage, signal }),
      remove: removeFolder,
      close: () => Promise.resolve(),
    })
  },
}

function findShell(path: string): { name: string; path: string } {
  const folders = [...path.split(delimiter).filter(Boolean), '/bin', '/usr/bin']
  const bash = folders.map((folder) => join(folder, 'bash')).find((file) => existsSync(file))
  return bash ? { name: 'bash', path: bash } : { name: 'sh', path: '/bin/sh' }
}

async function runScript(
  { workspace, environment, mark, output }: ExecutorJob,
  command: string,
  { script, stage, signal }: { script: string; stage: string; signal: AbortSignal },
): Promise<number> {
  const file = join(workspace.hostFolders.temporary, `${stage}.sh`)
  await writeFile(file, script, { mode: 0o600 })
  const cwd = workspace.hostFolders.builds
  try {
    return await runProgram({ command, args: [file], cwd, environment, mark, output, signal })
  } finally {
    await endMarked(mark)
  }
}

/** Makes read-only folders writable first. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    await chmod(folder, 0o700)
    for (const entry of entries) if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o700)
    await rm(folder, { recursive: true, force: true })
  }
}
