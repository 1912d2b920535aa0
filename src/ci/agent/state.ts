/** The stored identity of this agent at a server, in a file that only its user may read. */
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hasProcessEnded, PROCESS_TAG } from '../../lib/async/process-tag.ts'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'

const schema = z.object({
  url: z.string(),
  system_id: z.string(),
  id: z.int(),
  token: z.string(),
  token_expires_at: z.string().nullable(),
  token_since: z.string(),
  /** Digest of the registration token. Another token registers another runner. */
  registered_with: z.string(),
})

export type RunnerState = z.output<typeof schema>

const fileOf = (folder: string) => join(folder, 'runner.json')

/** Null if the file does not exist or is invalid. */
export async function readState(folder: string): Promise<RunnerState | null> {
  const text = await readFile(fileOf(folder), 'utf8').catch(nullIfMissing)
  if (text === null) return null
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new Error(`${fileOf(folder)} is not what this program wrote; move it away to register anew`)
  }
}

export async function writeState(folder: string, state: RunnerState): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = `${fileOf(folder)}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
  await chmod(draft, 0o600)
  await rename(draft, fileOf(folder))
}

/** When three quarters of the token's lifetime are over. Null for a token without expiry. */
export function renewalOf({ token_since: since, token_expires_at: end }: RunnerState): number | null {
  if (end === null || Number.isNaN(Date.parse(end))) return null
  return Date.parse(since) + 0.75 * (Date.parse(end) - Date.parse(since))
}

/**
 * Locks the folder, because two agents in one folder would disturb each other. The lock ends with its process, however
 * that ends.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'agent.lock')
  const holder = await readFile(file, 'utf8').catch(nullIfMissing)
  if (holder !== null && !hasProcessEnded(holder)) throw new Error(`another runner is at work in ${folder}`)
  if (holder !== null) await rm(file, { force: true })
  try {
    await writeFile(file, PROCESS_TAG, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw new Error(`another runner is at work in ${folder}`, { cause: error })
    throw error
  }
  return () => rm(file, { force: true })
}

export const removeState = (folder: string): Promise<void> => rm(fileOf(folder), { force: true })

export const makeSystemId = (): string => `s_${randomBytes(6).toString('hex')}`

export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
