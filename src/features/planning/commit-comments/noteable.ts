import { text } from '../../../api/wire.ts'
import { HARD_LIMITS, commitDiff } from '../../../git/history/diffs.ts'
import { findCommit, type Commit } from '../../../git/objects/commits.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { repository } from '../../repository/repositories/queries.ts'
import { storedPosition } from '../notes/positions.ts'
import { noteableKind, type NoteableItem } from '../notes/noteable.ts'
import { obeyOnCommit } from '../quick-actions/service.ts'

export function noteableItemOf(subject: RepositorySubject, commit: Commit): NoteableItem {
  return {
    noteable: { project_id: subject.project.id, commit_sha: commit.id },
    type: 'Commit',
    id: null,
    iid: null,
    isOpen: repositoryPolicy.comment(subject),
    isLocked: false,
    actionable: 'commit',
    ...(repositoryPolicy.push(subject) && {
      obey: async (_app, actor, commands) => obeyOnCommit(actor, subject, commit.id, commands),
    }),
    async resolvePosition(_app, position) {
      const diff = await commitDiff(subject.dir, commit.id, { limits: HARD_LIMITS })
      return storedPosition(diff?.files ?? [], { base: commit.parents[0] ?? null, head: commit.id }, position)
    },
  }
}

/** Notes on commits. */
export const commitNoteable = noteableKind({
  path: '/projects/:id/repository/commits/:sha',
  noun: 'a commit',
  on: repository,
  params: { sha: text },
  async find(_app, subject, { sha }) {
    if (!repositoryPolicy.download(subject)) return null
    const commit = await findCommit(subject.dir, sha)
    return commit && noteableItemOf(subject, commit)
  },
})
