import { casesOf, type Stage } from '../../../../test/cases.ts'

/** An issue with one event of each kind; returns the event of the given kind. */
const happened =
  (kind: string, hidden: Record<string, unknown> = {}) =>
  async (s: Stage) => {
    const project = `/projects/${s.project.id}`
    const milestone = await s.make(`${project}/milestones`, { title: `Events ${Math.random()}` })
    const { iid: issue_iid } = await s.make(`${project}/issues`, {
      title: 'A case',
      labels: 'events',
      milestone_id: milestone.id,
      ...hidden,
    })
    await s.owner.put(`${project}/issues/${issue_iid}`, { state_event: 'close' })
    const { body } = await s.owner.get(`${project}/issues/${issue_iid}/resource_${kind}_events`)
    return { issue_iid, event_id: body[0].id }
  }
const hidden = { confidential: true }

export const cases = casesOf(
  `
                                                                                           anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/issues/:issue_iid/resource_label_events                        private  404  404  404  200  200  200  200  200  200  401
                                                                                   public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/resource_label_events (confidential)         private  404  404  404  404  200  200  200  200  200  401
                                                                                   public   404  404  404  404  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/resource_label_events/:event_id              private  404  404  404  200  200  200  200  200  200  401
                                                                                   public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/resource_state_events                        private  404  404  404  200  200  200  200  200  200  401
                                                                                   public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/resource_state_events/:event_id              private  404  404  404  200  200  200  200  200  200  401
                                                                                   public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/resource_milestone_events                    private  404  404  404  200  200  200  200  200  200  401
                                                                                   public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/resource_milestone_events/:event_id          private  404  404  404  200  200  200  200  200  200  401
                                                                                   public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/issues/:issue_iid/resource_label_events': { at: happened('label') },
    'GET /projects/:id/issues/:issue_iid/resource_label_events (confidential)': { at: happened('label', hidden) },
    'GET /projects/:id/issues/:issue_iid/resource_label_events/:event_id': { at: happened('label') },
    'GET /projects/:id/issues/:issue_iid/resource_state_events': { at: happened('state') },
    'GET /projects/:id/issues/:issue_iid/resource_state_events/:event_id': { at: happened('state') },
    'GET /projects/:id/issues/:issue_iid/resource_milestone_events': { at: happened('milestone') },
    'GET /projects/:id/issues/:issue_iid/resource_milestone_events/:event_id': { at: happened('milestone') },
  },
)
