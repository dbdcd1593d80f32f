//! A strict local stand-in for the Anthropic Messages, OpenAI Chat Completions, OpenAI Responses and Gemini APIs.
