import { promisify } from 'node:util'
import ssh2 from 'ssh2'

export type KeyPair = { private: string; public: string }

const generate = promisify(ssh2.utils.generateKeyPair) as (type: string, options: object) => Promise<KeyPair>

/**
 * Both halves in OpenSSH's format. The library drops zero bytes in front of an Ed25519 key, which spoils one in 256:
 * what it cannot read back is made again.
 */
export async function newKeyPair(type: 'ed25519' | 'rsa' | 'ecdsa', bits?: number): Promise<KeyPair> {
  const pair = await generate(type, { bits })
  return ssh2.utils.parseKey(pair.private) instanceof Error ? newKeyPair(type, bits) : pair
}
