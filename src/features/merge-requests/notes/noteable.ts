import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Developer } from '../../../lib/levels.ts'
import { noteableKind, noteablePolicy, type NoteableItem } from '../../planning/notes/noteable.ts'
import { draftsOf } from '../draft-notes/drafts.ts'
import { publishDrafts } from '../draft-notes/service.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequest, mergeRequests } from '../merge-requests/queries.ts'
import { touchMergeRequest } from '../merge-requests/service.ts'
import { obeyOnMergeRequest } from '../quick-actions/service.ts'
import { suggestionsOf } from '../suggestions/queries.ts'
import { heedSuggestions } from '../suggestions/service.ts'
import { findOwnCommit, positionIn } from './positions.ts'

/** The merge request as a noteable, for one viewer. */
export function noteableItemOf(subject: MergeRequestSubject): NoteableItem {
  const { mergeRequest: one, level, viewer } = subject
  const publish = async (app: App, actor: User) => {
    const noteable = { ...subject, topic: noteableItemOf(subject) }
    const drafts = noteablePolicy.talk(noteable) ? await draftsOf(app.db, noteable).execute() : []
    await publishDrafts(app, actor, noteable, drafts)
  }
  return {
    noteable: { project_id: one.project_id, merge_request_id: one.id },
    type: 'MergeRequest',
    id: one.id,
    iid: one.iid,
    isOpen: mergeRequestPolicy.participate(subject),
    isLocked: one.discussion_locked ?? false,
    threads: { mayResolve: level >= Developer || (viewer !== null && one.author_id === viewer.id) },
    ...(mergeRequestPolicy.update(subject) && {
      obey: (app, actor, commands, emoji) => obeyOnMergeRequest(app, actor, subject, commands, emoji, publish),
    }),
    touch: (app) => touchMergeRequest(app, one.id),
    heed: (_app, text, position) => heedSuggestions(subject.dir, text, position),
    // Suggestions quote the code that they replace.
    ...(mergeRequestPolicy.readCode(subject) && { suggestions: (app, notes) => suggestionsOf(app, one, notes) }),
    commitNamed: (app, sha) => findOwnCommit(app, subject, sha),
    resolvePosition: (app, position, commit = null) => positionIn(app, subject, position, commit),
  }
}

/** Notes on merge requests. */
export const mergeRequestNoteable = noteableKind({
  path: '/projects/:id/merge_requests/:merge_request_iid',
  noun: 'a merge request',
  by: 'user',
  limiter: 'git',
  on: mergeRequests,
  params: { merge_request_iid: id },
  async find(app, parent, { merge_request_iid }) {
    const mergeRequest = await findMergeRequest(app, parent.project.id, merge_request_iid, parent.viewer?.id ?? 0)
    if (!mergeRequest) return null
    const subject = { ...parent, mergeRequest }
    return mergeRequestPolicy.readMergeRequest(subject) ? noteableItemOf(subject) : null
  },
})
