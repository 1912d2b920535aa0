/** What clients know this server by: made once, and the same ever after. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, nullIfMissing } from '../../lib/system-errors.ts'
import { newKeyPair } from './key-pair.ts'

type Make = () => Promise<{ private: string }>

/** The first is the one clients are offered first. */
const KINDS: Readonly<Record<string, Make>> = {
  ed25519: () => newKeyPair('ed25519'),
  rsa: () => newKeyPair('rsa', 3072),
}

export async function openHostKeys(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return Promise.all(Object.entries(KINDS).map(([kind, make]) => openKey(join(folder, `ssh_host_${kind}_key`), make)))
}

async function openKey(file: string, make: Make): Promise<string> {
  const known = await readFile(file, 'utf8').catch(nullIfMissing)
  return known ?? (await createKey(file, (await make()).private)) ?? readFile(file, 'utf8')
}

/** Null when another process was faster: its key is the one then. Under its name there is never half a key. */
async function createKey(file: string, key: string): Promise<string | null> {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, key, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, file)
    return key
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null
    throw error
  } finally {
    await rm(draft)
  }
}
