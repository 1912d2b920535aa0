/** Listings of folders in pages, by number or each from where the one before ended. */
import type { TreeEntry } from '../../../git/objects/trees.ts'
import { weakMemo } from '../../../lib/weak-memo.ts'

const KINDS = ['tree', 'blob', 'commit'] as const

/** Folders first, then files, then submodules, each kind in git's order. A listing that is remembered is sorted once. */
export const byKind = weakMemo((entries: readonly TreeEntry[]): readonly TreeEntry[] =>
  KINDS.flatMap((kind) => entries.filter(({ type }) => type === kind)),
)

export interface KeysetPage {
  readonly items: readonly TreeEntry[]
  /** For the next page; null after the last. */
  readonly token: string | null
}

/** Null when there is no such entry, or none any more. */
export function pageAfter(entries: readonly TreeEntry[], token: string | null, limit: number): KeysetPage | null {
  const start = token === null ? 0 : positionOf(entries, token) + 1
  if (token !== null && start === 0) return null
  const end = start + limit
  return { items: entries.slice(start, end), token: end < entries.length ? tokenAt(entries, end - 1) : null }
}

/** An entry's id; where the same content lies in several places, also which of them. */
function tokenAt(entries: readonly TreeEntry[], position: number): string {
  const { id } = entries[position]!
  const before = entries.slice(0, position).filter((entry) => entry.id === id).length
  return before === 0 ? id : `${id}-${before}`
}

function positionOf(entries: readonly TreeEntry[], token: string): number {
  const [, id, before = '0'] = /^([0-9a-f]+)(?:-(\d{1,9}))?$/.exec(token) ?? []
  let left = Number(before)
  return entries.findIndex((entry) => entry.id === id && left-- === 0)
}
