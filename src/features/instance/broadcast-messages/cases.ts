import { casesOf, type Stage } from '../../../../test/cases.ts'

const newMessage = { message: 'x' }

const message = async (s: Stage) => ({
  id: (await s.make('/broadcast_messages', newMessage, s.forge.administrator)).id,
})

export const cases = casesOf(
  `
                                 anon strg admn blkd
  GET /broadcast_messages         200  200  200  401
  GET /broadcast_messages/:id     200  200  200  401
  POST /broadcast_messages        401  403  201  401
  PUT /broadcast_messages/:id     401  403  200  401
  DELETE /broadcast_messages/:id  401  403  204  401
`,
  {
    'GET /broadcast_messages/:id': { at: message },
    'POST /broadcast_messages': { input: newMessage },
    'PUT /broadcast_messages/:id': { at: message, input: newMessage },
    'DELETE /broadcast_messages/:id': { at: message },
  },
)
