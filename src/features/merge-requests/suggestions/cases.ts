import { casesOf, type Stage } from '../../../../test/cases.ts'
import { mergeRequestAt } from '../../../../test/merge-requests.ts'

async function suggested(s: Stage): Promise<number> {
  const { iid, diff_refs, source_branch } = await mergeRequestAt(s)
  const file = `${source_branch}.txt`
  const discussion = await s.make(`/projects/${s.project.id}/merge_requests/${iid}/discussions`, {
    body: '```suggestion\nbetter\n```',
    position: { ...diff_refs, position_type: 'text', new_path: file, old_path: file, new_line: 1 },
  })
  return discussion.notes[0].suggestions[0].id
}
const at = async (s: Stage) => ({ id: await suggested(s) })
const input = async (s: Stage) => ({ ids: [await suggested(s)] })

export const cases = casesOf(
  `
                                          anon strg extn guest rept devl mast ownr admn blkd
  PUT /suggestions/:id/apply     private  401  404  404  404  403  200  200  200  200  401
                                 public   401  403  403  403  403  200  200  200  200  401
  PUT /suggestions/batch_apply   private  401  404  404  404  403  200  200  200  200  401
                                 public   401  403  403  403  403  200  200  200  200  401
`,
  {
    'PUT /suggestions/:id/apply': { at, input: { commit_message: 'Take it' } },
    'PUT /suggestions/batch_apply': { input },
  },
)
