import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { user } from './queries.ts'
import { activateUser, banUser, deactivateUser, unbanUser } from './standing.ts'

export const deactivate = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/deactivate',
  summary: 'Deactivate a user who has not been here for long',
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
  summary: 'Lift the ban of a user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, subject }) => unbanUser(app, subject.user),
})
