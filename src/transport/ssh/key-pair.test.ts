import { expect, test } from 'vitest'
import { parseSshPublicKey } from '../../lib/crypto/ssh-key.ts'
import { newKeyPair } from './key-pair.ts'

// One in 256 would be spoilt: 2,000 without any are luck in one run of 2,500.
test('every key that is made can be read', async () => {
  const keys = await Promise.all(Array.from({ length: 2000 }, () => newKeyPair('ed25519')))
  expect(keys.filter((key) => parseSshPublicKey(key.public) === null)).toEqual([])
})
