import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { TEMPORARY_FOLDER } from '../src/lib/files/temporary-folder.ts'

const run = promisify(execFile)

// Durability is worthless for data that lives a minute; 300 connections are enough for parallel test files.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '1GB',
  autovacuum: 'off',
  max_connections: 300,
  // Planning costs more than the rest of a statement on tables of a few rows.
  plan_cache_mode: 'force_generic_plan',
  listen_addresses: "''",
  port: 5432,
}

/** The folder of initdb and related programs; Debian has one per major version, outside PATH. */
function findBinaries(): string {
  const byMajor = new Intl.Collator('en', { numeric: true })
  const debian = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => byMajor.compare(b, a))
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  const found = [...debian, ...onPath].find((folder) => existsSync(join(folder, 'initdb')))
  if (!found) throw new Error("PostgreSQL is not installed: install Debian's postgresql package")
  return found
}

/** PostgreSQL refuses to run as root, so root runs it as the user of Debian's package. */
async function findOwner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const uid = Number((await run('id', ['-u', 'postgres'])).stdout)
  const gid = Number((await run('id', ['-g', 'postgres'])).stdout)
  return { uid, gid }
}

export interface Postgres extends AsyncDisposable {
  readonly url: string
  /** Stops at once, whatever is running. */
  end(): Promise<void>
  /** Starts again on the same data. */
  start(): Promise<void>
}

/** A temporary PostgreSQL server; the server and its files are deleted when it is disposed of. */
export async function startPostgres(more: Partial<typeof settings> = {}): Promise<Postgres> {
  const binaries = findBinaries()
  const owner = await findOwner()
  // Reached by a socket in a private folder, which is faster than a port and a password.
  const folder = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-pg-'))
  const [data, log] = [join(folder, 'data'), join(folder, 'log')]
  const tool = (name: string, ...args: string[]) => run(join(binaries, name), args, { cwd: folder, ...owner })

  async function end() {
    if (existsSync(join(data, 'postmaster.pid'))) await tool('pg_ctl', 'stop', '-w', '-m', 'immediate', '-D', data)
  }
  async function start() {
    const options = Object.entries({ ...settings, ...more, unix_socket_directories: folder })
    const flags = options.map(([name, value]) => `-c ${name}=${value}`).join(' ')
    await tool('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', flags).catch(async (cause: unknown) => {
      throw new Error(`PostgreSQL does not start:\n${await readFile(log, 'utf8').catch(String)}`, { cause })
    })
  }
  async function remove() {
    try {
      await end()
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }

  try {
    if (owner) await chown(folder, owner.uid, owner.gid)
    const login = ['-U', 'mortise', '-A', 'trust']
    await tool('initdb', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8', ...login, '-D', data)

    await start()
    await tool('createdb', '-h', folder, '-p', String(settings.port), '-U', 'mortise', 'mortise')
  } catch (error) {
    await remove()
    throw error
  }
  const url = `postgres://mortise@localhost:${settings.port}/mortise?host=${folder}`
  return { url, start, end, [Symbol.asyncDispose]: remove }
}
