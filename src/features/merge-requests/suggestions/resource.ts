import { z } from 'zod'
import { policy, resource } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { seesInternal } from '../../planning/notes/noteable.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequest } from '../merge-requests/queries.ts'
import type { Suggestion } from './model.ts'
import { findSuggestions } from './queries.ts'

interface SuggestionSubject extends MergeRequestSubject {
  readonly suggestion: Suggestion
}

export const reads = (s: MergeRequestSubject) => projectPolicy.read(s) && mergeRequestPolicy.readCode(s)

/** The merge request of a suggestion, for one viewer. */
export async function mergeRequestOf(
  app: App,
  { note_id }: Suggestion,
  viewer: User | null,
): Promise<MergeRequestSubject | null> {
  const row = await app.db
    .selectFrom('notes as n')
    .innerJoin('merge_requests as m', 'm.id', 'n.merge_request_id')
    .select(['m.project_id', 'm.iid', 'n.internal'])
    .where('n.id', '=', note_id)
    .executeTakeFirst()
  const project = row && (await findRepositorySubject(app, String(row.project_id), viewer))
  if (project && row.internal && !seesInternal(project)) return null
  const mergeRequest = project && (await findMergeRequest(app, row.project_id, row.iid, viewer?.id ?? 0))
  return mergeRequest ? { ...project, mergeRequest } : null
}

export const suggestion = resource({
  name: 'Suggestion',
  params: z.object({ id }),
  policy: policy<SuggestionSubject>()({
    read: (s: SuggestionSubject) => reads(s),
    apply: (s: SuggestionSubject) => mergeRequestPolicy.participate(s),
  }),
  async find(app, { id }, viewer): Promise<SuggestionSubject | null> {
    const [suggestion] = await findSuggestions(app.db, [id])
    const subject = suggestion && (await mergeRequestOf(app, suggestion, viewer))
    return subject ? { ...subject, suggestion } : null
  },
})
