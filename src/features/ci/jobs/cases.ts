import { casesOf, type Stage } from '../../../../test/cases.ts'
import { findJobByName, jobOn, pipelineOn, runJobByName } from '../../../../test/pipelines.ts'

const ofPipeline = async (s: Stage) => ({ pipeline_id: (await pipelineOn(s)).pipeline_id })
const ended = async (s: Stage) => ({ job_id: (await jobOn(s)).job_id })
const waiting = async (s: Stage) => ({ job_id: (await jobOn(s, null)).job_id })
const file = async (s: Stage) => ({ ...(await ended(s)), '*': 'a.txt' })

/** A manual job. */
async function manual(s: Stage) {
  await pipelineOn(s, 'ship: { script: x, when: manual }')
  return { job_id: (await findJobByName(s.forge, 'ship')).id }
}

/** A branch whose pipeline has succeeded. */
async function succeeded(s: Stage) {
  const { ref } = await pipelineOn(s, 'build: { script: x }')
  await runJobByName(s.forge, 'build', { files: { 'a.txt': 'hello' } })
  return { ref_name: ref }
}

export const cases = casesOf(
  `
                                                                    anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/jobs                                    private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/pipelines/:pipeline_id/jobs             private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/pipelines/:pipeline_id/bridges          private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/:job_id                            private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/:job_id/trace                      private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/:job_id/trace_part                 private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/:job_id/trace_search               private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/:job_id/artifacts_tree             private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/pipelines/:pipeline_id/graph            private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/jobs/:job_id/cancel                    private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/jobs/:job_id/retry                     private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/jobs/:job_id/play                      private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/jobs/:job_id/erase                     private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/jobs/:job_id/artifacts/keep            private  401  404  404  403  403  201  201  201  201  401
                                                            public   401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/jobs/:job_id/artifacts                  private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/:job_id/artifacts/*                private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/artifacts/:ref_name/download       private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/jobs/artifacts/:ref_name/raw/*          private  404  404  404  200  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/jobs/:job_id/artifacts               private  401  404  404  403  403  403  204  204  204  401
                                                            public   401  403  403  403  403  403  204  204  204  401
  DELETE /projects/:id/artifacts                            private  401  404  404  403  403  403  202  202  202  401
                                                            public   401  403  403  403  403  403  202  202  202  401
`,
  {
    'GET /projects/:id/pipelines/:pipeline_id/jobs': { at: ofPipeline },
    'GET /projects/:id/pipelines/:pipeline_id/bridges': { at: ofPipeline },
    'GET /projects/:id/jobs/:job_id': { at: ended },
    'GET /projects/:id/jobs/:job_id/trace': { at: ended },
    'GET /projects/:id/jobs/:job_id/trace_part': { at: ended, input: { line: 1 } },
    'GET /projects/:id/jobs/:job_id/trace_search': { at: ended, input: { search: 'done' } },
    'GET /projects/:id/jobs/:job_id/artifacts_tree': { at: ended, input: { path: '' } },
    'GET /projects/:id/pipelines/:pipeline_id/graph': { at: ofPipeline },
    'POST /projects/:id/jobs/:job_id/cancel': { at: waiting, input: { force: false } },
    'POST /projects/:id/jobs/:job_id/retry': { at: ended },
    'POST /projects/:id/jobs/:job_id/play': {
      at: manual,
      input: { job_variables_attributes: [{ key: 'WHERE', value: 'here' }] },
    },
    'POST /projects/:id/jobs/:job_id/erase': { at: ended },
    'POST /projects/:id/jobs/:job_id/artifacts/keep': { at: ended },
    'GET /projects/:id/jobs/:job_id/artifacts': { at: ended },
    'GET /projects/:id/jobs/:job_id/artifacts/*': { at: file },
    'GET /projects/:id/jobs/artifacts/:ref_name/download': { at: succeeded, input: { job: 'build' } },
    'GET /projects/:id/jobs/artifacts/:ref_name/raw/*': {
      at: async (s) => ({ ...(await succeeded(s)), '*': 'a.txt' }),
      input: { job: 'build' },
    },
    'DELETE /projects/:id/jobs/:job_id/artifacts': { at: ended },
  },
)
