/** Proves a backup: restores it into a temporary folder, which is checked and counted. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { readKey } from '../features/instance/instance-key/file.ts'
import type { Archive } from './archive.ts'
import { restore, type Restored, type RestoreOptions } from './restore.ts'

export async function verifyBackup(archive: Archive, config: Config, options: RestoreOptions): Promise<Restored> {
  const data = await mkdtemp(join(tmpdir(), 'mortise-verify-'))
  try {
    const storages = Object.freeze({ default: join(data, 'repositories') })
    const target = Object.freeze({ ...config, data, storages, databaseUrl: null, blobsUrl: null })
    return await restore(archive, target, { ...options, instanceKey: await readKey(config) })
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
