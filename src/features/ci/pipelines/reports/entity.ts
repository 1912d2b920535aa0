import { z } from 'zod'
import { entity } from '../../../../api/wire.ts'

const counts = {
  total_time: z.number(),
  total_count: z.int(),
  success_count: z.int(),
  failed_count: z.int(),
  skipped_count: z.int(),
  error_count: z.int(),
}

const TestCaseEntity = entity({
  status: z.enum(['success', 'failed', 'skipped', 'error']),
  name: z.string(),
  classname: z.string(),
  file: z.string().nullable(),
  execution_time: z.number(),
  system_output: z.string().nullable(),
  stack_trace: z.null(),
  recent_failures: z.null(),
})

export const TestReportEntity = entity({
  ...counts,
  test_suites: z.array(
    entity({
      name: z.string(),
      ...counts,
      suite_error: z.string().nullable(),
      test_cases: z.array(TestCaseEntity),
      build_ids: z.array(z.int()),
    }),
  ),
}).meta({ id: 'TestReport' })

export type TestReport = z.infer<typeof TestReportEntity>

export const TestSummaryEntity = entity({
  total: entity({
    time: z.number(),
    count: z.int(),
    success: z.int(),
    failed: z.int(),
    skipped: z.int(),
    error: z.int(),
    suite_error: z.string().nullable(),
  }),
  test_suites: z.array(
    entity({ name: z.string(), ...counts, build_ids: z.array(z.int()), suite_error: z.string().nullable() }),
  ),
}).meta({ id: 'TestReportSummary' })
