/** Who this agent is to which server, kept in a file of its own that nobody else may read. */
import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { nullIfMissing } from '../../lib/system-errors.ts'

const schema = z.object({
  url: z.string(),
  system_id: z.string(),
  id: z.int(),
  token: z.string(),
  /** Digest of the token it was registered with: another one makes another runner. */
  registered_with: z.string(),
})

export type RunnerState = z.output<typeof schema>

const fileOf = (folder: string) => join(folder, 'runner.json')

/** Null where there is none, or none that can be read as one. */
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

export const removeState = (folder: string): Promise<void> => rm(fileOf(folder), { force: true })

export const makeSystemId = (): string => `s_${randomBytes(6).toString('hex')}`

export const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
