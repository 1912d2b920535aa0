/** Pages of folder listings, by page number or by keyset. */
import type { LongListing } from '../../../git/objects/long-listings.ts'
import type { TreeEntry } from '../../../git/objects/trees.ts'
import { weakMemo } from '../../../lib/async/weak-memo.ts'
import { pageOfArray, type Cut, type Page } from '../../../store/pages.ts'

type Listing = readonly TreeEntry[] | LongListing

const KINDS = ['tree', 'blob', 'commit'] as const

/** Folders first, then files, then submodules, each in git's order. A cached listing is sorted once. */
const byKind = weakMemo((entries: readonly TreeEntry[]): readonly TreeEntry[] =>
  KINDS.flatMap((kind) => entries.filter(({ type }) => type === kind)),
)

const isFew = (listing: Listing): listing is readonly TreeEntry[] => Array.isArray(listing)

export const entriesOf = (listing: Listing): Iterable<TreeEntry> | AsyncIterable<TreeEntry> =>
  isFew(listing) ? byKind(listing) : listing.entries()

export async function pageOfListing(listing: Listing, page: Cut): Promise<Page<TreeEntry>> {
  if (isFew(listing)) return pageOfArray(byKind(listing), page)
  const total = await listing.total()
  const items: TreeEntry[] = []
  if (page.offset >= total) return { items, total }
  for await (const entry of listing.entries(page.offset)) if (items.push(entry) === page.limit) break
  return { items, total }
}

export interface KeysetPage {
  readonly items: readonly TreeEntry[]
  /** The token for the next page. Null after the last page. */
  readonly token: string | null
}

/**
 * Null if the entry of the token does not exist any more. A token is the id of an entry. If the same content has
 * several paths, the token also says which one.
 */
export async function pageAfter(listing: Listing, token: string | null, limit: number): Promise<KeysetPage | null> {
  const [, id, before = '0'] = /^([0-9a-f]+)(?:-(\d{1,9}))?$/.exec(token ?? '') ?? []
  let left = Number(before)
  let isFound = token === null
  const items: TreeEntry[] = []
  let position = 0
  for await (const entry of entriesOf(listing)) {
    if (items.length === limit) return { items, token: await tokenOf(items.at(-1)!, listing, position - 1) }
    if (isFound) items.push(entry)
    else if (entry.id === id && left-- === 0) isFound = true
    position++
  }
  return isFound ? { items, token: null } : null
}

async function tokenOf({ id }: TreeEntry, listing: Listing, position: number): Promise<string> {
  let left = position
  let before = 0
  for await (const entry of entriesOf(listing)) {
    if (left-- === 0) break
    if (entry.id === id) before++
  }
  return before === 0 ? id : `${id}-${before}`
}
