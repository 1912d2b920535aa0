# This Dockerfile is a template: it may need editing before it fits your project.

FROM ruby:3.3
ENV BUNDLE_DEPLOYMENT=true BUNDLE_WITHOUT=development:test
WORKDIR /app

# Gems change less often than code: installed apart, they stay cached.
COPY Gemfile Gemfile.lock ./
RUN bundle install --jobs 4
COPY . .

RUN useradd --system --no-create-home app && mkdir -p log tmp && chown app log tmp
USER app
EXPOSE 3000
CMD ["bundle", "exec", "rackup", "--host", "0.0.0.0", "--port", "3000"]
