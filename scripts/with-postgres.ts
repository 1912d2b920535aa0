// Runs a command beside a throwaway PostgreSQL: `node scripts/with-postgres.ts vitest run`.
// The command finds its database in MORTISE_TEST_DATABASE_URL and its exit code becomes ours. The server and its
// files are gone afterwards, whether the command succeeded, failed or was interrupted.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { TEMPORARY_FOLDER } from '../src/lib/temporary-folder.ts'

const run = promisify(execFile)

// Durability is worthless for data that lives a minute; 300 connections leave room for parallel test files.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '1GB',
  autovacuum: 'off',
  max_connections: 300,
  listen_addresses: "''",
  port: 5432,
}

/** The folder of initdb and its companions; Debian keeps one per major version, off PATH. */
function findBinaries(): string {
  const byMajor = new Intl.Collator('en', { numeric: true })
  const debian = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => byMajor.compare(b, a))
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  const found = [...debian, ...onPath].find((folder) => existsSync(join(folder, 'initdb')))
  if (!found) throw new Error("PostgreSQL is not installed: install Debian's postgresql package")
  return found
}

/** PostgreSQL refuses to run as root, so root lends it the account that Debian's package made. */
async function findOwner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const uid = Number((await run('id', ['-u', 'postgres'])).stdout)
  const gid = Number((await run('id', ['-g', 'postgres'])).stdout)
  return { uid, gid }
}

async function startPostgres() {
  const binaries = findBinaries()
  const owner = await findOwner()
  // It is reached by a socket in this folder, which nobody else may enter: that is quicker than a port and a password.
  const folder = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-pg-'))
  const [data, log] = [join(folder, 'data'), join(folder, 'log')]
  const tool = (name: string, ...args: string[]) => run(join(binaries, name), args, { cwd: folder, ...owner })

  async function stop() {
    try {
      if (existsSync(join(data, 'postmaster.pid'))) await tool('pg_ctl', 'stop', '-w', '-m', 'immediate', '-D', data)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }

  try {
    if (owner) await chown(folder, owner.uid, owner.gid)
    const login = ['-U', 'mortise', '-A', 'trust']
    await tool('initdb', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8', ...login, '-D', data)

    const options = Object.entries({ ...settings, unix_socket_directories: folder })
    const flags = options.map(([name, value]) => `-c ${name}=${value}`).join(' ')
    await tool('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', flags).catch(async (cause: unknown) => {
      throw new Error(`PostgreSQL does not start:\n${await readFile(log, 'utf8').catch(String)}`, { cause })
    })
    await tool('createdb', '-h', folder, '-p', String(settings.port), '-U', 'mortise', 'mortise')
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgres://mortise@localhost:${settings.port}/mortise?host=${folder}`, [Symbol.asyncDispose]: stop }
}

/** Returns the exit code as a shell would give it: 127 when there is no such command, 128 + n after signal n. */
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
  // Awaited here: a returned promise would let the database go first.
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
