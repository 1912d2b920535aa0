/** Proves a backup: restores it into a temporary folder, which is checked and counted. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { readKey } from '../features/instance/instance-key/file.ts'
import { randomHex } from '../lib/crypto/secrets.ts'
import type { Archive } from './archive.ts'
import { restore, type Restored, type RestoreOptions } from './restore.ts'

export async function verifyBackup(archive: Archive, config: Config, options: RestoreOptions): Promise<Restored> {
  const data = await mkdtemp(join(tmpdir(), 'mortise-verify-'))
  try {
    const storages = Object.freeze({ default: join(data, 'repositories') })
    const target = Object.freeze({ ...config, data, storages, databaseUrl: null, blobsUrl: null })
    const given = { ...options, instanceKey: await readKey(config) }
    if (!config.databaseUrl?.startsWith('postgres')) return await restore(archive, target, given)
    const { createScratch } = await import('./postgres.ts')
    await using scratch = await createScratch(config.databaseUrl, `mortise_proof_${randomHex(6)}`)
    return await restore(archive, { ...target, databaseUrl: scratch.url }, given)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
