# This Dockerfile is a template: it may need editing before it fits your project.

# Packages without a wheel for musl are compiled on installation and need: apk add --no-cache build-base
FROM python:3.12-alpine
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
WORKDIR /app

# Packages change less often than code: installed apart, they stay cached.
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
COPY . .

RUN adduser -S -D -H app
USER app
EXPOSE 8000
CMD ["python", "app.py"]
