import { promisify } from 'node:util'
import ssh2 from 'ssh2'

export type KeyPair = { private: string; public: string }

const generate = promisify(ssh2.utils.generateKeyPair) as (type: string, options: object) => Promise<KeyPair>

/**
 * Both keys in OpenSSH format. The library drops leading zero bytes of Ed25519 keys, which breaks one in 256. A key
 * that cannot be read back is generated again.
 */
export async function newKeyPair(type: 'ed25519' | 'rsa' | 'ecdsa', bits?: number): Promise<KeyPair> {
  const pair = await generate(type, { bits })
  return ssh2.utils.parseKey(pair.private) instanceof Error ? newKeyPair(type, bits) : pair
}
