/** Passwords: stored as a memory-hard hash; hashing and comparing run off the event loop. */
import { hash, verify } from '@node-rs/argon2'
import { tooLong } from '../../lib/text/faults.ts'

const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 }

export const SHORTEST_PASSWORD = 8
export const LONGEST_PASSWORD = 128

export const hashPassword = (password: string): Promise<string> => hash(password, COST)

/** A hash that no password matches. Comparing with it takes as long as a real comparison. */
let decoy: Promise<string> | null = null

export async function isPassword(password: string, digest: string | null): Promise<boolean> {
  decoy ??= hashPassword('no password has this hash')
  // Longer passwords were never accepted; hashing them would only cost memory.
  const given = password.slice(0, LONGEST_PASSWORD + 1)
  const same = await verify(digest ?? (await decoy), given)
  return same && digest !== null
}

export function passwordFaults(password: string): string[] {
  if (password.length < SHORTEST_PASSWORD) return [`is too short (minimum is ${SHORTEST_PASSWORD} characters)`]
  return password.length > LONGEST_PASSWORD ? [tooLong(LONGEST_PASSWORD)] : []
}
