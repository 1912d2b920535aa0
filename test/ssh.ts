/** Forges with SSH, and keys to connect with. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startForge, type ForgeOptions, type Person, type TestForge } from '../src/forge.ts'
import { newKeyPair, type KeyPair } from '../src/transport/ssh/key-pair.ts'

export type { KeyPair }

/** The public half can be added to an account, the private half opens connections. */
export const newKey = (type: 'ed25519' | 'rsa' | 'ecdsa' = 'ed25519'): Promise<KeyPair> =>
  newKeyPair(type, { ed25519: undefined, rsa: 2048, ecdsa: 256 }[type])

const HOST_KEYS = { ed25519: await newKey(), rsa: await newKey('rsa') }

/** With prepared host keys: creating them would take longer than the rest of a test. */
export async function startSshForge(options: Pick<ForgeOptions, 'patience' | 'logTo'> = {}): Promise<TestForge> {
  const forge = await startForge({ ...options, settings: { SSH_PORT: '0' } })
  const folder = join(forge.app.config.data, 'ssh')
  await mkdir(folder)
  for (const [kind, key] of Object.entries(HOST_KEYS))
    await writeFile(join(folder, `ssh_host_${kind}_key`), key.private, { mode: 0o600 })
  return forge
}

export const sshPortOf = ({ app }: TestForge): number => app.config.sshPort!

export async function addKey(person: Person, key: KeyPair, more: Record<string, unknown> = {}): Promise<number> {
  const { status, body } = await person.post('/user/keys', { title: 'laptop', key: key.public, ...more })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.id
}
