import { expect, test } from 'vitest'
import { parseSshPublicKey } from '../../lib/crypto/ssh-key.ts'
import { newKeyPair } from './key-pair.ts'

// One in 256 keys would be broken. 2,000 good keys in a row by chance have a probability of one in 2,500.
test('every key that is made can be read', async () => {
  const keys = await Promise.all(Array.from({ length: 2000 }, () => newKeyPair('ed25519')))
  expect(keys.filter((key) => parseSshPublicKey(key.public) === null)).toEqual([])
})
