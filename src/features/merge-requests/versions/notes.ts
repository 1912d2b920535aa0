/** System notes about pushed commits. */
import type { Commit } from '../../../git/objects/commits.ts'

const MOST_LISTED = 100

export interface Pushed {
  /** Commits of the merge request itself, newest first. */
  readonly commits: readonly Pick<Commit, 'id' | 'title'>[]
  /** Commits that came from the target: their number, the oldest and the newest. */
  readonly fromTarget: { readonly count: number; readonly first: string; readonly last: string } | null
  readonly target: string
  /** The URL of the comparison of both versions. */
  readonly compare: string
}

const short = (id: string) => id.slice(0, 8)
const counted = (n: number) => `${n} ${n === 1 ? 'commit' : 'commits'}`

export function pushNote({ commits, fromTarget, target, compare }: Pushed): string {
  const total = commits.length + (fromTarget?.count ?? 0)
  const range =
    fromTarget &&
    (fromTarget.count === 1 ? short(fromTarget.last) : `${short(fromTarget.first)}...${short(fromTarget.last)}`)
  const lines = [
    ...(fromTarget ? [`* ${range} - ${counted(fromTarget.count)} from branch \`${target}\``] : []),
    ...commits
      .slice(0, MOST_LISTED)
      .toReversed()
      .map(({ id, title }) => `* ${short(id)} - ${title}`),
    ...(commits.length > MOST_LISTED ? [`* … and ${counted(commits.length - MOST_LISTED)} more`] : []),
  ]
  return `added ${counted(total)}\n\n${lines.join('\n')}\n\n[Compare with previous version](${compare})`
}
