// Runs a command with a temporary PostgreSQL: `node scripts/with-postgres.ts vitest run`. The command gets the URL in
// MORTISE_TEST_DATABASE_URL, and its exit code becomes ours. The server and its files are deleted at the end, whether
// the command succeeded, failed or was interrupted.
import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { startPostgres } from './postgres.ts'

/** Returns the exit code as a shell does: 127 if there is no such command, 128 + n after signal n. */
async function main([command, ...args]: string[]): Promise<number> {
  if (!command) throw new Error('usage: node scripts/with-postgres.ts <command> [args...]')

  let child: ChildProcess | undefined
  let interrupted: NodeJS.Signals | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted = signal
      child?.kill(signal)
    })
  }

  await using postgres = await startPostgres()
  if (interrupted) return 128 + constants.signals[interrupted]

  child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, MORTISE_TEST_DATABASE_URL: postgres.url } })
  // Awaited here: returning the promise would dispose of the database first.
  return await new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`with-postgres: ${error.message}`)
      resolve(127)
    })
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(`with-postgres: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
