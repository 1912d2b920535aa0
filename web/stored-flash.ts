/** A flash message for another page, as the browser stores it for a moment. Without scripts a cookie carries it. */
import type { Flash } from './page.ts'

const NAME = 'flash'
const STORED_MS = 60_000

interface Stored {
  readonly flash: Flash['flash']
  readonly address: string
  readonly until: number
}

export function storeFlash(address: string, flash: Flash['flash']): void {
  const stored: Stored = { flash, address, until: Date.now() + STORED_MS }
  try {
    sessionStorage.setItem(NAME, JSON.stringify(stored))
  } catch {
    // Browsers can forbid it. The action is done anyway.
  }
}

/** The message for this page, once. */
export function takeFlash(address: string): Flash['flash'] | null {
  try {
    const stored = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') as Stored | null
    if (stored) sessionStorage.removeItem(NAME)
    return stored?.address === address && stored.until > Date.now() ? stored.flash : null
  } catch {
    return null
  }
}
