/** A flash message for another page, as the browser stores it for a moment. Without scripts a cookie carries it. */
import type { Flash } from './page.ts'

const NAME = 'flash'
const STORED_MS = 60_000

interface Stored {
  readonly told: Flash['told']
  readonly address: string
  readonly until: number
}

export function storeFlash(address: string, told: Flash['told']): void {
  const stored: Stored = { told, address, until: Date.now() + STORED_MS }
  try {
    sessionStorage.setItem(NAME, JSON.stringify(stored))
  } catch {
    // Browsers can forbid it. The action is done anyway.
  }
}

/** The message for this page, once. */
export function takeFlash(address: string): Flash['told'] | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as Stored | null
    if (stored) sessionStorage.removeItem(NAME)
    return stored?.address === address && stored.until > Date.now() ? stored.told : null
  } catch {
    return null
  }
}
