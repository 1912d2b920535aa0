/** The file with the key of the instance, in the data folder. */
import { randomBytes, randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../config.ts'
import { hasCode, nullIfMissing } from '../../../lib/files/system-errors.ts'

type Where = Pick<Config, 'data' | 'secretKey'>

export const keyFile = ({ data }: Pick<Config, 'data'>): string => join(data, 'secret.key')

/**
 * The key that encrypts the few secrets which must be read back. The database alone does not reveal them. Null if there
 * is no key yet.
 */
export async function readKey(config: Where): Promise<Buffer | null> {
  const file = keyFile(config)
  const text = config.secretKey ?? (await readFile(file, 'utf8').catch(nullIfMissing))?.trim() ?? null
  if (text !== null && !/^[0-9a-f]{64}$/i.test(text)) throw new Error(`${file} holds no key of 64 hex digits`)
  return text === null ? null : Buffer.from(text, 'hex')
}

/** The file is complete or absent; if two processes create a key, the first wins. */
export async function makeKey(config: Where): Promise<Buffer> {
  await writeKey(config, randomBytes(32))
  return (await readKey(config))!
}

/** An existing file stays. */
export async function writeKey(config: Pick<Config, 'data'>, key: Buffer): Promise<void> {
  const file = keyFile(config)
  const draft = `${file}-${randomUUID()}`
  try {
    await writeFile(draft, key.toString('hex'), { flag: 'wx', mode: 0o600, flush: true })
    await link(draft, file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(draft, { force: true })
  }
}
