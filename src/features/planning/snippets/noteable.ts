import { id } from '../../../api/wire.ts'
import { noteableKind } from '../notes/noteable.ts'
import { projectSnippetPolicy } from './policy.ts'
import { findSnippet, snippets } from './queries.ts'
import { touchSnippet } from './service.ts'

/** Notes on project snippets. The API has no notes on personal snippets. */
export const snippetNoteable = noteableKind({
  path: '/projects/:id/snippets/:snippet_id',
  noun: 'a snippet',
  on: snippets,
  params: { snippet_id: id },
  async find({ db }, parent, { snippet_id }) {
    const snippet = await findSnippet(db, snippet_id)
    if (snippet?.project_id !== parent.project.id) return null
    const subject = { ...parent, snippet }
    if (!projectSnippetPolicy.read(subject)) return null
    return {
      noteable: { project_id: parent.project.id, snippet_id },
      type: 'Snippet' as const,
      id: snippet_id,
      iid: null,
      isOpen: projectSnippetPolicy.participate(subject),
      isLocked: false,
      touch: (app) => touchSnippet(app, snippet_id),
    }
  },
})
