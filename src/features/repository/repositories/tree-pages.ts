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
  const last = id === undefined ? undefined : (await positionsOf(listing, id))[Number(before)]
  if (token !== null && last === undefined) return null
  const offset = last === undefined ? 0 : last + 1
  const { items, total } = await pageOfListing(listing, { limit, offset })
  const end = offset + items.length
  return { items, token: end < total ? await tokenOf(items.at(-1)!, listing, end - 1) : null }
}

async function tokenOf({ id }: TreeEntry, listing: Listing, position: number): Promise<string> {
  const before = (await positionsOf(listing, id)).indexOf(position)
  return before === 0 ? id : `${id}-${before}`
}

const positionsOf = async (listing: Listing, id: string): Promise<number[]> =>
  isFew(listing)
    ? byKind(listing).flatMap((entry, position) => (entry.id === id ? [position] : []))
    : listing.positionsOf(id)
