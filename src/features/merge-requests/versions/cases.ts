import { casesOf, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest as at } from '../../../../test/merge-requests.ts'

const versionsOf = async (s: Stage, iid: number) =>
  (await s.owner.get(`/projects/${s.project.id}/merge_requests/${iid}/versions`)).body as { id: number }[]

async function oneVersion(s: Stage) {
  const { merge_request_iid: iid } = await at(s)
  return { iid, version: (await versionsOf(s, iid))[0]!.id }
}

export const cases = casesOf(
  `
                                                                                     anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/commits                private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/changes                private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/diffs                  private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/raw_diffs              private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/versions               private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/versions/:version_id   private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/versions/compare       private  401  404  404  403  200  200  200  200  200  401
                                                                             public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/commits': { at },
    'GET /projects/:id/merge_requests/:merge_request_iid/changes': { at },
    'GET /projects/:id/merge_requests/:merge_request_iid/diffs': { at },
    'GET /projects/:id/merge_requests/:merge_request_iid/raw_diffs': { at },
    'GET /projects/:id/merge_requests/:merge_request_iid/versions': { at },
    'GET /projects/:id/merge_requests/:merge_request_iid/versions/:version_id': {
      at: async (s) => ({ merge_request_iid: (await oneVersion(s)).iid, version_id: (await oneVersion(s)).version }),
    },
    'GET /projects/:id/merge_requests/:merge_request_iid/versions/compare': {
      at: async (s) => ({ merge_request_iid: (await oneVersion(s)).iid }),
      input: async (s) => ({ from: (await oneVersion(s)).version, to: (await oneVersion(s)).version }),
    },
  },
)
