/** Backups of a test forge, and what a restored instance holds. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openArchive, type Archive } from '../src/backup/archive.ts'
import { openCapturer } from '../src/backup/open.ts'
import { restore, type Restored } from '../src/backup/restore.ts'
import type { Config } from '../src/config.ts'
import { blobColumns } from '../src/features/v4.ts'
import { readKey } from '../src/features/instance/instance-key/file.ts'
import type { TestForge } from '../src/forge.ts'
import { runGit, temporaryFolder } from './git-origin.ts'

export interface Stage extends AsyncDisposable {
  readonly folder: string
  readonly archive: Archive
  /** Captures a moment, as `mortise backup` does. */
  backUp(): Promise<string>
  /** Restores into a new folder. */
  restore(options?: { at?: string; config?: Partial<Config> }): Promise<Restored & { data: string }>
}

export async function backupStage(forge: TestForge, where = 'backup'): Promise<Stage> {
  const folder = await temporaryFolder()
  const { config } = forge.app
  const archive = await openArchive(where.includes(':') ? where : join(folder.path, where), config, { create: true })
  let restored = 0
  return {
    folder: folder.path,
    archive,
    async backUp() {
      await using capturer = await openCapturer(config, archive, { blobColumns })
      await capturer.prepare()
      await capturer.storeAhead()
      return (await capturer.capture())!.time
    },
    async restore({ at, config: other = {} } = {}) {
      const data = join(folder.path, `restored-${++restored}`)
      const key = (await readKey(config))!.toString('hex')
      const target = configIn(config, data, { secretKey: key, ...other })
      return { ...(await restore(archive, target, { at: at === undefined ? null : new Date(at) })), data }
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

export const configIn = (config: Config, data: string, other: Partial<Config> = {}): Config => ({
  ...config,
  data,
  storages: { default: join(data, 'repositories') },
  databaseUrl: null,
  blobsUrl: null,
  ...other,
})

export const databaseOf = ({ app }: TestForge): string => app.config.databaseUrl!.replace(/^sqlite:/, '')

/** All rows of all tables, but those that every opening changes. */
export function rowsOf(file: string): Record<string, unknown[]> {
  const database = new Database(file)
  try {
    const tables = database
      .prepare(`select name from pragma_table_list where schema = 'main' and type = 'table' order by name`)
      .pluck()
      .all() as string[]
    const kept = tables.filter((name) => !/^sqlite_|^processes$/.test(name))
    return Object.fromEntries(
      kept.map((name) => [
        name,
        database
          .prepare(`select * from "${name}"`)
          .all()
          .map((row) => JSON.stringify(row))
          .toSorted(),
      ]),
    )
  } finally {
    database.close()
  }
}

/** The refs of every repository, by its path below the storage. */
export async function refsIn(storage: string): Promise<Record<string, string>> {
  const paths = (await readdir(storage, { recursive: true })).filter((path) => path.endsWith('.git'))
  const refs: Record<string, string> = {}
  for (const path of paths.toSorted())
    refs[path] = await runGit([`--git-dir=${join(storage, path)}`, 'for-each-ref', '--format=%(objectname) %(refname)'])
  return refs
}

/** The names of all objects of an archive in a folder. */
export const objectsIn = async (folder: string): Promise<Set<string>> =>
  new Set((await readdir(join(folder, 'backup/objects'), { recursive: true })).filter((path) => path.length > 60))
