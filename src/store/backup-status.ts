/** What this machine knows about its backup: files in the data folder, because the database is what is backed up. */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing } from '../lib/files/system-errors.ts'

interface Captures {
  /** The last time when the backup had everything. */
  readonly current_at: string | null
  /** The last captured moment. */
  readonly captured_at: string | null
  /** Why the last attempt failed; null if it succeeded. */
  readonly error: string | null
  /** Another server of the instance makes the backup. */
  readonly is_standby: boolean
}

interface Proofs {
  /** When the last attempt to prove a restore began. */
  readonly verify_begun_at: string | null
  /** When a restore was last proven, and of which moment. */
  readonly verified_at: string | null
  readonly verified_moment: string | null
  readonly verify_error: string | null
}

export type BackupStatus = Captures & Proofs

/** Each file has one writer. */
const files = {
  captures: { current_at: null, captured_at: null, error: null, is_standby: false } as Captures,
  proofs: { verify_begun_at: null, verified_at: null, verified_moment: null, verify_error: null } as Proofs,
}
type Files = typeof files

const pathOf = (data: string, name: keyof Files) => join(data, `backup-${name}.json`)

async function read<N extends keyof Files>(data: string, name: N): Promise<Files[N]> {
  const text = await readFile(pathOf(data, name), 'utf8').catch(nullIfMissing)
  return text === null ? files[name] : { ...files[name], ...(JSON.parse(text) as Partial<Files[N]>) }
}

export const readBackupStatus = async (data: string): Promise<BackupStatus> => ({
  ...(await read(data, 'captures')),
  ...(await read(data, 'proofs')),
})

export async function changeBackupStatus<N extends keyof Files>(
  data: string,
  name: N,
  change: Partial<Files[N]>,
): Promise<void> {
  const draft = `${pathOf(data, name)}.${randomUUID()}`
  try {
    await writeFile(draft, `${JSON.stringify({ ...(await read(data, name)), ...change })}\n`, { flag: 'wx' })
    await rename(draft, pathOf(data, name))
  } finally {
    await rm(draft, { force: true })
  }
}
