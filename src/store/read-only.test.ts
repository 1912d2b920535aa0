import { expect, test } from 'vitest'
import { assertWriteAllowed, isReadStatement } from './read-only.ts'

test.each([
  'select * from "users" for update',
  'with recursive below as (select id from "updates") select * from below',
  'begin; set local synchronous_commit to off',
])('reads: %s', (sql) => {
  expect(isReadStatement(sql)).toBe(true)
})

test.each([
  'insert into "users" ("name") values ($1)',
  'update "users" set "name" = $1',
  'with gone as (delete from sessions returning *) select * from gone',
  'with gone as (delete from "changes" returning *) insert into changes select * from gone',
  'delete from "second_factors"',
  'insert into "recovery_codes" ("user_id") values ($1)',
  'truncate sessions',
  'create table sessions (id bigint)',
])('refuses: %s', (sql) => {
  expect(isReadStatement(sql)).toBe(false)
  expect(() => assertWriteAllowed(sql)).toThrow('the instance is read-only')
})

test.each([
  'insert into "sessions" ("user_id") values ($1)',
  'delete from sessions where user_id = $1',
  'update "second_factors" set "last_step" = $1',
  'insert into "processes" ("tag") values ($1) on conflict ("tag") do update set "beats" = 2',
])('allows: %s', (sql) => {
  expect(isReadStatement(sql)).toBe(false)
  expect(() => assertWriteAllowed(sql)).not.toThrow()
})
