import { casesOf, type Stage } from '../../../../test/cases.ts'
import { pipelineOn } from '../../../../test/pipelines.ts'

const at = async (s: Stage) => ({ pipeline_id: (await pipelineOn(s)).pipeline_id })
const onMaster = async (s: Stage) => {
  await pipelineOn(s)
  return {}
}
const started = async (s: Stage) => ({ ref: (await pipelineOn(s)).ref })

export const cases = casesOf(
  `
                                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/pipelines                              private  404  404  404  200  200  200  200  200  200  401
                                                           public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/pipeline                              private  401  404  404  403  403  201  201  201  201  401
                                                           public   401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/pipelines/latest                       private  404  404  404  200  200  200  200  200  200  401
                                                           public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/pipelines/:pipeline_id                 private  404  404  404  200  200  200  200  200  200  401
                                                           public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/pipelines/:pipeline_id/variables       private  401  404  404  403  403  403  200  200  200  401
                                                           public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/pipelines/:pipeline_id/retry          private  401  404  404  403  403  201  201  201  201  401
                                                           public   401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/pipelines/:pipeline_id/cancel         private  401  404  404  403  403  200  200  200  200  401
                                                           public   401  403  403  403  403  200  200  200  200  401
  PUT /projects/:id/pipelines/:pipeline_id/metadata        private  401  404  404  403  403  200  200  200  200  401
                                                           public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/pipelines/:pipeline_id              private  401  404  404  403  403  403  403  204  204  401
                                                           public   401  403  403  403  403  403  403  204  204  401
  GET /projects/:id/pipelines/:pipeline_id/test_report     private  404  404  404  200  200  200  200  200  200  401
                                                           public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/pipelines/:pipeline_id/test_report_summary  private  404  404  404  200  200  200  200  200  200  401
                                                                public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/pipelines': { at: onMaster },
    'POST /projects/:id/pipeline': { input: started },
    'GET /projects/:id/pipelines/latest': { input: started },
    'GET /projects/:id/pipelines/:pipeline_id': { at },
    'GET /projects/:id/pipelines/:pipeline_id/variables': { at, scope: 'secret' },
    'POST /projects/:id/pipelines/:pipeline_id/retry': { at },
    'POST /projects/:id/pipelines/:pipeline_id/cancel': { at },
    'PUT /projects/:id/pipelines/:pipeline_id/metadata': { at, input: { name: 'x' } },
    'DELETE /projects/:id/pipelines/:pipeline_id': { at },
    'GET /projects/:id/pipelines/:pipeline_id/test_report': { at },
    'GET /projects/:id/pipelines/:pipeline_id/test_report_summary': { at },
  },
)
