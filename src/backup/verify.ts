/** Proves a backup: restores it into a temporary folder, which is checked and counted. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usesPostgres, type Config } from '../config.ts'
import { readKey } from '../features/instance/instance-key/file.ts'
import { PROCESS_TAG } from '../lib/async/process-tag.ts'
import { randomHex } from '../lib/crypto/secrets.ts'
import { makeProcessFolder } from '../lib/files/process-folder.ts'
import type { Archive } from './archive.ts'
import { restore, type Restored, type RestoreOptions } from './restore.ts'

export async function verifyBackup(archive: Archive, config: Config, options: RestoreOptions): Promise<Restored> {
  await using folder = await makeProcessFolder(tmpdir(), 'mortise-verify-')
  const data = folder.path
  const storages = Object.freeze({ default: join(data, 'repositories') })
  const target = Object.freeze({ ...config, data, storages, databaseUrl: null, blobsUrl: null })
  const given = { ...options, instanceKey: await readKey(config) }
  if (!usesPostgres(config)) return await restore(archive, target, given)
  const { createScratch } = await import('./postgres.ts')
  await using scratch = await createScratch(config.databaseUrl, `mortise_proof_${PROCESS_TAG}_${randomHex(4)}`)
  return await restore(archive, { ...target, databaseUrl: scratch.url }, given)
}
