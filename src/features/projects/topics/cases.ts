import { casesOf, unique, type Stage } from '../../../../test/cases.ts'

const newTopic = () => ({ name: unique('topic'), title: 'A topic' })
const made = async (s: Stage): Promise<number> => (await s.make('/topics', newTopic(), s.forge.administrator)).id
const topic = async (s: Stage) => ({ id: await made(s) })

export const cases = casesOf(
  `
                        anon strg extn admn blkd
  GET /topics            200  200  200  200  401
  GET /topics/:id        200  200  200  200  401
  POST /topics           401  403  403  201  401
  PUT /topics/:id        401  403  403  200  401
  DELETE /topics/:id     401  403  403  204  401
  POST /topics/merge     401  403  403  201  401
`,
  {
    'GET /topics/:id': { at: topic },
    'POST /topics': { input: newTopic },
    'PUT /topics/:id': { at: topic, input: { title: 'Another' } },
    'DELETE /topics/:id': { at: topic },
    'POST /topics/merge': {
      input: async (s) => ({ source_topic_id: await made(s), target_topic_id: await made(s) }),
    },
  },
)
