import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { user } from './queries.ts'
import { activateUser, approveUser, banUser, deactivateUser, rejectUser, unbanUser } from './state.ts'

export const deactivate = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/deactivate',
  summary: 'Deactivate an inactive user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, viewer, subject }) => deactivateUser(app, viewer, subject.user),
})

export const activate = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/activate',
  summary: 'Activate a deactivated user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, subject }) => activateUser(app, subject.user),
})

export const ban = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/ban',
  summary: 'Ban a user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, viewer, subject }) => banUser(app, viewer, subject.user),
})

export const unban = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/unban',
  summary: 'Unban a user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, subject }) => unbanUser(app, subject.user),
})

const Done = entity({ message: z.literal('Success') })
const DONE = { message: 'Success' } as const

export const approve = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/approve',
  summary: 'Approve a pending user',
  on: user,
  allow: 'administrator',
  deniedWith: 'You are not allowed to approve a user',
  output: Done,
  async handle({ app, subject }) {
    await approveUser(app, subject.user)
    return DONE
  },
})

export const reject = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/reject',
  summary: 'Delete the account of a user who has registered and waits for approval',
  on: user,
  allow: 'administrator',
  deniedWith: 'You are not allowed to reject a user',
  status: 200,
  output: Done,
  async handle({ app, viewer, subject }) {
    await rejectUser(app, viewer, subject.user)
    return DONE
  },
})
