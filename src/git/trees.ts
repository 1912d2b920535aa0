/** What a commit holds: files and folders by name. */
import type { Ref, Rev } from './arguments.ts'
import { git } from './command.ts'

export interface TreeEntry {
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
  readonly id: string
  readonly name: string
}

/** The topmost level, in git's order. */
export async function rootEntries(dir: string, of: Rev | Ref): Promise<TreeEntry[]> {
  const listing = await git(dir, ['ls-tree', '-z', '--end-of-options', of])
  return [...listing.matchAll(/(\d+) (\w+) ([0-9a-f]+)\t([^\0]+)\0/g)].map(([, mode, type, id, name]) => ({
    mode: mode!,
    type: type as TreeEntry['type'],
    id: id!,
    name: name!,
  }))
}

export const isFile = ({ mode }: TreeEntry): boolean => mode.startsWith('100')
